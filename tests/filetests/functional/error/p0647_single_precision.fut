--entry: f
--args: 3.0f32
--shown: 4.5f32
entry f (x: f32): f32 = x * 1.5f32 --! P0647
