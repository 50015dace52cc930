import sys


def main():
    data = sys.argv[1]
    epochs = int(sys.argv[2])
    out = sys.argv[3] if len(sys.argv) > 3 else "out"
    print(data, epochs, out)


if __name__ == "__main__":
    main()
