// The filter of system calls in a sandbox of bubblewrap: a program of classic BPF (seccomp(2)). It
// closes the parts of the kernel that no namespace separates.
// No program reaches the keyrings of its user, or opens a socket of AF_VSOCK. io_uring is
// closed too: it opens sockets past the filter.
// A call of another architecture, whose numbers differ, kills the process.
// No program sets the bits setuid and setgid: such a file would outlive the sandbox. openat2
// is missing, because no filter can read the mode in its struct. Programs then use openat.
// No program traces another process or takes its memory or descriptors: process 1 is one.
// userfaultfd and bpf are closed, because they are tools of attacks on the kernel.

/** A call with the mode of a file, and the positions of its arguments. */
type ModeCall = { call: number; mode: number; flags?: number }

type Numbers = {
  arch: number
  keys: readonly number[]
  /** ptrace, process_vm_readv, process_vm_writev, kcmp, userfaultfd, bpf. */
  tracing: readonly number[]
  socket: number
  modes: readonly ModeCall[]
}

/** By `process.arch`: the name of the architecture for the kernel, and its numbers of calls. */
const numbers: Partial<Record<string, Numbers>> = {
  // add_key, request_key, keyctl
  x64: {
    arch: 0xc000003e,
    keys: [248, 249, 250],
    tracing: [101, 310, 311, 312, 323, 321],
    socket: 41,
    modes: [
      { call: 90, mode: 1 }, // chmod
      { call: 91, mode: 1 }, // fchmod
      { call: 268, mode: 2 }, // fchmodat
      { call: 85, mode: 1 }, // creat
      { call: 133, mode: 1 }, // mknod
      { call: 259, mode: 2 }, // mknodat
      { call: 2, mode: 2, flags: 1 }, // open
      { call: 257, mode: 3, flags: 2 }, // openat
    ],
  },
  arm64: {
    arch: 0xc00000b7,
    keys: [217, 218, 219],
    tracing: [117, 270, 271, 272, 282, 280],
    socket: 198,
    modes: [
      { call: 52, mode: 1 }, // fchmod
      { call: 53, mode: 2 }, // fchmodat
      { call: 33, mode: 2 }, // mknodat
      { call: 56, mode: 3, flags: 2 }, // openat
    ],
  },
}
const fchmodat2: ModeCall = { call: 452, mode: 2 }
const openat2 = 437
const pidfdGetfd = 438
/** S_ISUID and S_ISGID. */
const runsAsOwner = 0o6000
/** O_CREAT and __O_TMPFILE. Without them the mode of an open counts for nothing, and may be anything. */
const creates = 0o20000100
const ioUringSetup = 425
const vsock = 40
/** Calls of x32 on x86_64 have this bit. */
const x32 = 0x40000000

const [killProcess, allow] = [0x80000000, 0x7fff0000]
const refuseWith = (errno: number) => 0x00050000 | errno
const [notPermitted, notThere, noFamily] = [1, 38, 97]

/** Fields of `struct seccomp_data`: bytes from its beginning. Both machines are little-endian. */
const [callAt, archAt, firstArgumentAt] = [0, 4, 16]
const [load, jumpIfEqual, jumpIfAtLeast, jumpIfAny, answer] = [0x20, 0x15, 0x35, 0x45, 0x06]

type Instruction = [code: number, value: number, skipIf?: number, skipElse?: number]

/** Undefined: an architecture without a filter. */
export function seccompFilter(machine: string = process.arch): Buffer | undefined {
  const known = numbers[machine]
  if (known === undefined) return undefined
  const refused = (call: number, errno: number): Instruction[] => [
    [jumpIfEqual, call, 0, 1],
    [answer, refuseWith(errno)],
  ]
  const program: Instruction[] = [
    [load, archAt],
    [jumpIfEqual, known.arch, 1, 0],
    [answer, killProcess],
    [load, callAt],
    [jumpIfAtLeast, x32, 0, 1],
    [answer, refuseWith(notThere)],
    ...[...known.keys, ...known.tracing, pidfdGetfd].flatMap((call) => refused(call, notPermitted)),
    ...refused(ioUringSetup, notThere),
    ...refused(openat2, notThere),
    ...[...known.modes, fchmodat2].flatMap(withoutOwnersRights),
    [jumpIfEqual, known.socket, 0, 3],
    [load, firstArgumentAt],
    ...refused(vsock, noFamily),
    [answer, allow],
  ]
  return Buffer.concat(program.map(bytesOf))
}

/** Each path ends here, because the call's number is no longer loaded. */
function withoutOwnersRights({ call, mode, flags }: ModeCall): Instruction[] {
  const looked: Instruction[] = [
    [load, argumentAt(mode)],
    [jumpIfAny, runsAsOwner, 0, 1],
    [answer, refuseWith(notPermitted)],
    [answer, allow],
  ]
  const ofCreation: Instruction[] =
    flags === undefined
      ? []
      : [
          [load, argumentAt(flags)],
          [jumpIfAny, creates, 0, looked.length - 1],
        ]
  return [[jumpIfEqual, call, 0, ofCreation.length + looked.length], ...ofCreation, ...looked]
}

/** The lower half of a call's argument. */
function argumentAt(position: number): number {
  return firstArgumentAt + 8 * position
}

/** As `struct sock_filter`. */
function bytesOf([code, value, skipIf = 0, skipElse = 0]: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(skipIf, 2)
  bytes.writeUInt8(skipElse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
