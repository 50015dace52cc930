import enum

from absl import app
from absl import flags


class Precision(enum.Enum):
    FP32 = 1
    BF16 = 2


_STEPS = flags.DEFINE_integer(name="steps", default=10_000, help="Training steps.")
_WORKDIR = flags.DEFINE_string("workdir", None, "Where results go.", required=True)
_PRECISION = flags.DEFINE_enum_class("precision", Precision.BF16, Precision, "Number format.")
_DEBUG = flags.DEFINE_boolean("debug", True, help="Check for NaN.")


def main(argv):
    del argv
    print(_STEPS.value)


if __name__ == "__main__":
    app.run(main)
