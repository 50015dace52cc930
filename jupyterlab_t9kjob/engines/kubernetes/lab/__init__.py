"""Properties of the lab that jobs inherit: the volumes, image and ids of its pod, or volumes from a trait."""
