import click


@click.command()
@click.argument("architecture-name", type=str, default="small")
@click.option("--dry-run/--no-dry-run", default=False, help="Stop after one batch")
def main(architecture_name, dry_run):
    """Train an architecture."""
    print(architecture_name, dry_run)


if __name__ == "__main__":
    main()
