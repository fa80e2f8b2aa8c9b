// The filter of system calls in a sandbox of bubblewrap: a program of classic BPF (seccomp(2)). It
// closes the parts of the kernel that no namespace separates.
// SECCOMP-1. No program reaches the keyrings of its user, or opens a socket of AF_VSOCK. io_uring is
//     closed too: it opens sockets past the filter.
// SECCOMP-2. A call of another architecture, whose numbers differ, kills the process.

type Numbers = { arch: number; keys: readonly number[]; socket: number }

/** By `process.arch`: the name of the architecture for the kernel, and its numbers of calls. */
const numbers: Partial<Record<string, Numbers>> = {
  // add_key, request_key, keyctl
  x64: { arch: 0xc000003e, keys: [248, 249, 250], socket: 41 },
  arm64: { arch: 0xc00000b7, keys: [217, 218, 219], socket: 198 },
}
const ioUringSetup = 425
const vsock = 40
/** Calls of x32 on x86_64 have this bit. */
const x32 = 0x40000000

const [killProcess, allow] = [0x80000000, 0x7fff0000]
const refuseWith = (errno: number) => 0x00050000 | errno
const [notPermitted, notThere, noFamily] = [1, 38, 97]

/** Fields of `struct seccomp_data`: bytes from its beginning. Both machines are little-endian. */
const [callAt, archAt, firstArgumentAt] = [0, 4, 16]
const [load, jumpIfEqual, jumpIfAtLeast, answer] = [0x20, 0x15, 0x35, 0x06]

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
    ...known.keys.flatMap((call) => refused(call, notPermitted)),
    ...refused(ioUringSetup, notThere),
    [jumpIfEqual, known.socket, 0, 3],
    [load, firstArgumentAt],
    ...refused(vsock, noFamily),
    [answer, allow],
  ]
  return Buffer.concat(program.map(bytesOf))
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
