"""Pictures of subgraphs: samples of nodes, their layout, the edges that a round keeps, and HTML."""
