from absl import flags

flags.DEFINE_integer("hidden", None, "Width of the layers.")
flags.DEFINE_multi_integer("strides", [1, 2], "Strides.")
flags.DEFINE_alias("width", "hidden")
