from absl import app, flags

import model_flags  # noqa: F401

FLAGS = flags.FLAGS
flags.DEFINE_string("run_name", "run", "Name.")
flags.mark_flags_as_required(["hidden"])


def main(_):
    pass


if __name__ == "__main__":
    app.run(main)
