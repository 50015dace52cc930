from transformers import HfArgumentParser


class FileArgumentParser(HfArgumentParser):
    def parse_yaml_and_args(self, path, others):
        return self.parse_yaml_file(path)
