"""The contract of the API: `openapi.json`, which is made from `paths.yaml` and the pydantic models."""
