"""The science of GLT Studio: graphs, masks, pruning rounds and tickets; runs headless and knows no screen."""

__version__ = "0.1.0"
