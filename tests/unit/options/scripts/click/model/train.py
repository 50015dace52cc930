import click
from settings import Settings, options_from


@click.command()
@options_from(Settings)
@click.option("--epochs", default=3, help="Passes over the data.")
def main(epochs, **values):
    print(Settings(**values), epochs)


if __name__ == "__main__":
    main()
