//! The text of a translation from PISA, which is to be read by people. `tests/runner/pisa_import.rs` tests what translations do.

use std::path::Path;

use pendula::asm::pisa::import::{self, import};

#[test]
fn the_text_is_to_be_read() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/pisa/import/comments.pisa"),
    );
    let text = text.unwrap();
    // A mark of the encoding is no comment.
    for text in [format!("\u{feff}{text}"), text] {
        let imported = import("some/where/comments.pisa", &text, &import::Options::default());
        assert_eq!(imported.text.unwrap(), COMMENTS);
    }
}

const COMMENTS: &str = r"; from comments.pisa
; At the head of the file,
; two lines.

        .equ    CELLS, 65536            ; cells from address 0 on; links lie behind them
        .equ    CODE, 10                ; cells before this one were instructions

        .macro  exchange word, address  ; with a cell
        assert.geu \address, CODE
        assert.lt \address, CELLS
        exch    \word, [cells+\address]
        .endm

        .data
        .export d
below:  .space  65536                   ; cells with addresses below 0
cells:
        .space  10                      ; where the instructions were
d:      .word   3                       ; three
above:  .space  65525

        .text
        ; The main program.
main:   start                           ; begins here
        call    f                       ; a call
        add32   r1, 10
        exchange r4, r1                 ; d
        finish

        ; A procedure.
        ; its frame
        proc    f                       ; its entry
        ; its link
        ; what it does
        add32   r3, 7                   ; once
        ; and its end
        ret     f
";
