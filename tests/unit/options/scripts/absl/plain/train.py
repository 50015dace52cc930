from absl import app, flags

FLAGS = flags.FLAGS

flags.DEFINE_string("data_dir", None, "Folder with records.")
flags.DEFINE_integer("batch_size", 64, "Examples per step.", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.1, "Initial rate.", short_name="l")
flags.DEFINE_bool("use_tpu", False, "Run on TPUs.")
flags.DEFINE_enum("mode", "train", ["train", "eval"], "What to do.")
flags.DEFINE_list("layers", ["64", "32"], "Sizes of the layers.")
flags.DEFINE_multi_string("gin_bindings", [], "Bindings.")
flags.mark_flag_as_required("data_dir")


def main(_):
    print(FLAGS.batch_size)


if __name__ == "__main__":
    app.run(main)
