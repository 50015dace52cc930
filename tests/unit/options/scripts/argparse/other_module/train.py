from opts import get_args


def main():
    args = get_args()
    print(args.batch_size)


if __name__ == "__main__":
    main()
