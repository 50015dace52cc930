import sys

if len(sys.argv) != 3:
    sys.exit("usage: train.py DATA EPOCHS")
_, data_dir, epochs = sys.argv
epochs = int(epochs)
print(data_dir, epochs)
