# Functions that cannot be read are left out.
#args: 1.0
#entry: good
@i function bad(x) #! P0463 2 of 3 reversible functions are left out; `--strict` makes that an error
    x = 3 #! P0463 `bad` is left out: `=` forgets what was there before @ =
end
@i function good(x)
    x += 1.0
end
@i function $head(x) #! P0463 this is left out: the character `$` means nothing here @ $
    x += 1
end
#value: x = 2.0
