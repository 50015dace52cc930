from click_options import common
import click as c


@c.command(context_settings={"show_default": True})
@common
@c.option("-o", "--output-dir", "out", type=str, required=True)
@c.option("-v", "--verbose", count=True, help="More output.")
@c.option("--hidden-thing", hidden=True)
def run(seed, gpus, out, verbose, hidden_thing):
    pass


if __name__ == "__main__":
    run(standalone_mode=False)
