import click


@click.command()
@click.argument("data", type=click.Path(exists=True))
@click.option("--epochs", "-e", default=10, help="Passes over the data.")
@click.option("--lr", type=float, default=1e-3, show_default=True)
@click.option("--arch", type=click.Choice(["resnet", "vit"]), default="resnet", help="Network.")
@click.option("--amp/--no-amp", default=True, help="Mixed precision.")
@click.option("--debug", is_flag=True)
@click.option("--shuffle", type=bool, default=True)
@click.option("--tag", multiple=True, help="Labels.")
@click.option("--size", nargs=2, type=int, default=(224, 224))
@click.option("--token", required=True, envvar="TOKEN")
def main(data, epochs, lr, arch, amp, debug, shuffle, tag, size, token):
    """Train a model on DATA."""
    print(data)


if __name__ == "__main__":
    main()
