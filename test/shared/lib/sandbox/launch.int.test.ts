// The launcher, as this user and, if tests run as root, as an unprivileged one. The attacks of tools are in shared/tools/sandbox.int.test.ts.

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, jest } from '@jest/globals'
import { findAmong, findBackend } from '../../../../shared/lib/sandbox/backend.ts'
import type { Confinement } from '../../../../shared/lib/sandbox/confinement.ts'
import { confined } from '../../../../shared/lib/sandbox/launch.ts'
import { protectOwnPath } from '../../../../shared/lib/sandbox/own-paths.ts'
import { hasProcessCap } from '../../../../shared/lib/sandbox/process-cap.ts'
import { until } from '../../../support/inbox.ts'

const places = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
const installed = (name: string) =>
  places.map((place) => join(place, name)).find((file) => existsSync(file))
const found = findAmong(installed)
const folder = mkdtempSync(join(tmpdir(), 'weir-launch-'))
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Prints the fault of each call, and whether a plain socket opens. */
const systemCalls = `import ctypes, errno, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in [*map(int, sys.argv[1:]), 425]:
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0, 0, 0)
    print(errno.errorcode.get(ctypes.get_errno()))
try:
    socket.socket(40, socket.SOCK_STREAM)
except OSError as fault:
    print(errno.errorcode[fault.errno])
socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
print('open')
`

/** Prints the fault of each way into process 1. PTRACE_SEIZE, because PTRACE_ATTACH would stop it. */
const tracing = `import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(title, *arguments):
    ctypes.set_errno(0)
    libc.syscall(*arguments)
    print(title, errno.errorcode.get(ctypes.get_errno(), 'done'))
ptrace, readv, writev, kcmp, userfaultfd, bpf = map(int, sys.argv[1:])
none = ctypes.c_ulong(0)
call('ptrace', ptrace, 0x4206, 1, none, none)
call('process_vm_readv', readv, 1, none, none, none, none, none)
call('process_vm_writev', writev, 1, none, none, none, none, none)
call('kcmp', kcmp, 1, 1, 0, none, none)
call('userfaultfd', userfaultfd, 1)
call('bpf', bpf, 0, none, 0)
call('pidfd_getfd', 438, libc.syscall(434, 1, 0), 0, 0)
`

/** Prints the fault of each way to a file that runs as its owner, and of calls without those bits. */
const ownersRights = `import ctypes, errno, os, stat
libc = ctypes.CDLL(None, use_errno=True)
def call(title, *arguments):
    ctypes.set_errno(0)
    libc.syscall(*arguments)
    print(title, errno.errorcode.get(ctypes.get_errno(), 'done'))
def tried(title, action):
    try:
        action()
        print(title, 'done')
    except OSError as fault:
        print(title, errno.errorcode[fault.errno])
open('f', 'w').close()
fd = os.open('f', os.O_RDONLY)
for mode in (0o4755, 0o2755, 0o1755):
    tried(f'chmod {mode:o}', lambda: os.chmod('f', mode))
tried('fchmod', lambda: os.fchmod(fd, 0o4755))
tried('mknod', lambda: os.mknod('n', stat.S_IFREG | 0o4755))
tried('create', lambda: os.open('c', os.O_CREAT | os.O_WRONLY, 0o4755))
tried('unnamed', lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o4755))
tried('plain', lambda: os.open('p', os.O_CREAT | os.O_WRONLY, 0o755))
here, name, there = ctypes.c_int(-100), b'f', ctypes.c_ulong(0)
call('fchmodat2', 452, here, name, 0o4755, 0)
call('openat2', 437, here, name, there, 24)
number = 257 if os.uname().machine == 'x86_64' else 56
call('unused mode', number, here, name, 0, 0o4755)
if os.uname().machine == 'x86_64':
    call('open', 2, b'o', 0o101, 0o4755)
    call('creat', 85, b'o', 0o4755)
for found in os.listdir('.'):
    if os.stat(found).st_mode & 0o6000:
        print('left', found)
`

const isRoot = process.getuid?.() === 0
const users: { who: string; id: { uid?: number; gid?: number } }[] = [
  { who: 'this user', id: {} },
  ...(isRoot ? [{ who: 'nobody', id: { uid: 65_534, gid: 65_534 } }] : []),
]
const rest = {
  read: [],
  write: [],
  programFiles: [],
  programFolders: [],
  network: 'none' as const,
  memoryBytes: 2 ** 28,
  processes: 64,
  cpuSeconds: undefined,
}

describe.each(users)('bubblewrap as $who', ({ id, who }) => {
  const whereItIs = 'backend' in found ? it : it.skip
  const work = join(folder, who.replace(' ', '-'))
  mkdirSync(work)
  chownSync(work, id.uid ?? process.getuid?.() ?? 0, id.gid ?? process.getgid?.() ?? 0)

  /** As the process of that user would: a cgroup is only for root. */
  function launch(script: string, change: Partial<Confinement> = {}) {
    const spies = [jest.spyOn(process, 'getuid'), jest.spyOn(process, 'getgid')]
    if (id.uid !== undefined) for (const spy of spies) spy?.mockReturnValue(id.uid)
    const launched = launchHere(script, change)
    for (const spy of spies) spy?.mockRestore()
    return launched
  }

  function launchHere(script: string, change: Partial<Confinement>) {
    return confined({ argv: ['sh', '-c', script], cwd: work, ...rest, ...change }, [], found)
  }

  function run(script: string, change?: Partial<Confinement>) {
    const [program, ...programArguments] = launch(script, change)
    const { status, stdout, stderr } = spawnSync(program, programArguments, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
      input: 'input',
      ...id,
    })
    return { status, output: stdout + stderr }
  }

  whereItIs('passes input, output and the exit code on', () => {
    expect(run('cat; pwd; exit 7')).toEqual({ status: 7, output: `input${work}\n` })
  })

  whereItIs('gives a writable working folder, and nothing more to write or to gain', () => {
    const script = `touch ok; for p in /x /usr/x /dev/x /proc/sys/kernel/core_pattern; do (echo x > $p) 2>/dev/null && echo "wrote $p"; done; grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status | tr -d '\\t'; grep -c : /proc/net/dev; ls -d /proc/[0-9]* | wc -l`
    const { output } = run(script)
    expect(output).toMatch(/^CapEff:0+\nCapBnd:0+\nNoNewPrivs:1\n1\n\d\n$/)
    expect(existsSync(join(work, 'ok'))).toBe(true)
  })

  whereItIs('hides protected paths and shows listed ones, also through links', () => {
    const inside = join(work, 'inside')
    mkdirSync(join(inside, 'kept'), { recursive: true })
    writeFileSync(join(inside, 'secret'), 'CANARY')
    writeFileSync(join(inside, 'kept', 'x'), 'CANARY')
    const data = join(folder, `data-${who.length}`)
    mkdirSync(data)
    writeFileSync(join(data, 'x'), 'DATA')
    symlinkSync(data, `${data}-link`)
    protectOwnPath(join(inside, 'secret'))
    protectOwnPath(join(inside, 'kept'))
    const script = `cat inside/secret; ls inside/kept; cat ${data}-link/x; echo y > ${data}/x`
    const { output } = run(script, { read: [`${data}-link`] })
    expect(output).toContain('DATA')
    expect(output).not.toContain('CANARY')
    expect(output).toContain('Read-only file system')
  })

  const filters = 'backend' in found && installed('python3') !== undefined
  ;(filters ? it : it.skip)('closes keyrings, vsock and io_uring, and leaves other calls', () => {
    const program = join(work, 'calls.py')
    writeFileSync(program, systemCalls)
    const numbers = process.arch === 'arm64' ? '217 218 219' : '248 249 250'
    const { output } = run(`python3 ${program} ${numbers}; ls /proc/self/fd | grep -cx 9`, {
      programFiles: [program],
    })
    expect(output.split('\n')).toEqual([
      ...['248', '249', '250'].map(() => 'EPERM'),
      ...['ENOSYS', 'EAFNOSUPPORT', 'open', '0', ''],
    ])
  })

  ;(filters ? it : it.skip)('lets no program trace process 1 or read its memory', () => {
    const program = join(work, 'trace.py')
    writeFileSync(program, tracing)
    const numbers = process.arch === 'arm64' ? '117 270 271 272 282 280' : '101 310 311 312 323 321'
    const { output } = run(`python3 ${program} ${numbers}`, { programFiles: [program] })
    expect(output.split('\n')).toEqual(
      [
        ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'userfaultfd', 'bpf'],
        'pidfd_getfd',
      ]
        .map((call) => `${call} EPERM`)
        .concat(''),
    )
  })

  ;(filters ? it : it.skip)('lets no program make a file that runs as its owner or group', () => {
    const program = join(work, 'rights.py')
    writeFileSync(program, ownersRights)
    const lines = run(`python3 ${program}`, { programFiles: [program] })
      .output.trim()
      .split('\n')
    expect(lines.slice(0, 11)).toEqual([
      ...['chmod 4755 EPERM', 'chmod 2755 EPERM', 'chmod 1755 done', 'fchmod EPERM'],
      ...['mknod EPERM', 'create EPERM', 'unnamed EPERM', 'plain done'],
      ...['fchmodat2 EPERM', 'openat2 ENOSYS', 'unused mode done'],
    ])
    const olderCalls = process.arch === 'x64' ? ['open EPERM', 'creat EPERM'] : []
    expect(lines.slice(11)).toEqual(olderCalls)
  })

  const withCap = 'backend' in found && (id.uid !== undefined || !isRoot || hasProcessCap())
  ;(withCap ? it : it.skip)('bounds the number of processes', () => {
    const script = 'for i in $(seq 300); do sleep 1 & done; ls -d /proc/[0-9]* | wc -l'
    const { output } = run(`(${script}) 2>&1; true`, { processes: 100 })
    expect(output).toMatch(/fork|resource/i)
    expect(output).not.toMatch(/^[2-9]\d\d$/m)
  })

  whereItIs('ends all processes when the started one is killed', async () => {
    const mark = `weir-left-${process.pid}-${who.length}`
    const [program, ...programArguments] = launch(
      `setsid bash -c 'exec -a ${mark} sleep 300' & bash -c 'exec -a ${mark} sleep 300' & touch on; wait`,
    )
    const child = spawn(program, programArguments, {
      stdio: 'ignore',
      detached: true,
      ...id,
    })
    const isLeft = () => spawnSync('pgrep', ['-f', mark]).status === 0
    await until(() => existsSync(join(work, 'on')) && isLeft())
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await until(() => spawnSync('pgrep', ['-fx', `${mark} 300`]).status !== 0)
  })
})

describe('a machine without bubblewrap', () => {
  const machine = (...programs: string[]) =>
    findAmong((name) => (programs.includes(name) ? '/bin/false' : undefined))

  it.each([
    ['apt-get', 'apt-get install bubblewrap'],
    ['dnf', 'dnf install bubblewrap'],
    ['apk', 'apk add bubblewrap'],
    ['pacman', 'pacman -S bubblewrap'],
    ['zypper', 'zypper install bubblewrap'],
  ])('and with %s names the command: %s', (manager, command) => {
    const getuid = jest.spyOn(process, 'getuid').mockReturnValue(0)
    const missing = `bubblewrap is not installed; run: ${command}`
    expect(machine('prlimit', manager)).toEqual({ missing })
    getuid.mockReturnValue(1_000)
    expect(machine('prlimit', manager)).toEqual({ missing: missing.replace('run: ', 'run: sudo ') })
    getuid.mockRestore()
  })

  it('names the command of brew without sudo', () => {
    expect(machine('prlimit', 'brew')).toEqual({
      missing: 'bubblewrap is not installed; run: brew install bubblewrap',
    })
  })

  it('and without a known package manager gets the names of the packages', () => {
    expect(machine()).toEqual({
      missing: 'bubblewrap and util-linux are not installed; install bubblewrap and util-linux',
    })
  })

  it('that is no Linux cannot install it', () => {
    expect(findBackend('/usr/bin:/opt/homebrew/bin', 'darwin')).toEqual({
      missing: 'bubblewrap needs Linux, and this is darwin: no command installs it',
    })
  })

  it('starts no program, and names the reason', () => {
    const start = () => confined({ argv: ['true'], cwd: folder, ...rest }, [], machine())
    expect(start).toThrow(/^no sandbox can be made here: bubblewrap and util-linux are not/)
  })
})

describe('a machine that cannot use bubblewrap', () => {
  it.each(['bwrap', 'prlimit'])('can make no sandbox without a working %s', (name) => {
    const missing = findAmong((one) => (one === name ? undefined : installed(one)))
    expect(missing).toEqual({ missing: expect.stringMatching(/^[a-z-]+ is not installed; /) })
  })

  it('is one where bubblewrap is there and fails', () => {
    const broken = findAmong((name) => (name === 'bwrap' ? '/bin/false' : installed(name)))
    expect(broken).toEqual({
      missing:
        'bubblewrap does not work here (exit code 1); allow user namespaces (docs/guard/sandbox.md)',
    })
  })
})
