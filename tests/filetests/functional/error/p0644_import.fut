import "nowhere" --! P0644
