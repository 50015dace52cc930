from base import Dataset


class Coco(Dataset, name="coco"):
    pass


class VOC(Dataset):
    pass
