"""The API's contract: `openapi.json`, made from `paths.yaml` and the pydantic models."""
