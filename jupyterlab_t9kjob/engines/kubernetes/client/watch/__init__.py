"""Informers, which keep the objects of a collection current by a list and a watch."""
