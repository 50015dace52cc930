import sys

settings = {}
for argument in sys.argv[1:]:
    key, value = argument.split("=")
    settings[key] = value
print(settings)
