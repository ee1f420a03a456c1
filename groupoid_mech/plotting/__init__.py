"""Pictures of what the library computes, with matplotlib."""
