# What the seeds of the fuzzer `go_program` are made from: as little as the reader takes for a Go program whose collector can be read.
#   as -o go_program.o go_program.s && ld -N --build-id=none -o seeds/go_program/plain go_program.o
#   as -o go_program.o go_program.s && ld -N --build-id=none --compress-debug-sections=zlib -o seeds/go_program/compressed go_program.o
#   strip -o seeds/go_program/stripped seeds/go_program/plain

	.section .go.buildinfo, "aw"
	.balign 16
	.ascii "\377 Go buildinf:"
	.byte 8, 2
	.zero 16
	.uleb128 6
	.ascii "go1.26"
	.uleb128 module_end - module
module:	.ascii "0123456789abcdef"
	.ascii "build\tDefaultGODEBUG=containermaxprocs=0\n"
	.ascii "0123456789abcdef"
module_end:

	.text
	.globl _start
_start:	ret

	.bss
	.globl runtime.gomaxprocs, runtime.memstats, runtime.gcController
runtime.gomaxprocs:	.zero 8
runtime.memstats:	.zero 64
runtime.gcController:	.zero 64

	.section .debug_abbrev, "", @progbits
	.uleb128 1, 0x11 # DW_TAG_compile_unit
	.byte 1
	.uleb128 0x03, 0x08, 0, 0 # DW_AT_name, DW_FORM_string
	.uleb128 2, 0x13 # DW_TAG_structure_type
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 3, 0x0d # DW_TAG_member
	.byte 0
	.uleb128 0x03, 0x08, 0x38, 0x0f, 0, 0 # DW_AT_data_member_location, DW_FORM_udata
	.byte 0

	.section .debug_info, "", @progbits
	.long unit_end - unit
unit:	.short 5 # the version of DWARF
	.byte 1, 8 # DW_UT_compile, bytes of an address
	.long 0
	.uleb128 1
	.rept 40 # so that there is something to compress
	.ascii "runtime/"
	.endr
	.asciz ""
	.uleb128 2
	.asciz "runtime.mstats"
	.uleb128 3
	.asciz "numgc"
	.uleb128 24
	.uleb128 3
	.asciz "pause_total_ns"
	.uleb128 32
	.byte 0
	.uleb128 2
	.asciz "runtime.gcControllerState"
	.uleb128 3
	.asciz "heapLive"
	.uleb128 40
	.byte 0, 0
unit_end:
