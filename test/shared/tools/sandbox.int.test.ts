// Attacks of a command tool on its machine, on Weir and on other tools. Each one succeeds without a
// sandbox, which the first assertion of some tests shows, and fails with `sandbox: default`.

import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { CommandTool, ModuleTool } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type { SandboxSetting } from '../../../shared/agents/sandbox.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { protectAgentFile, protectOwnPath } from '../../../shared/lib/sandbox/own-paths.ts'
import { hasProcessCap } from '../../../shared/lib/sandbox/process-cap.ts'
import { startCommand } from '../../../shared/tools/command/command.ts'
import { moduleTools } from '../../../shared/tools/module/module.ts'
import { prepareSandboxes } from '../../../shared/tools/sandbox/sandbox-check.ts'
import { sandboxed, sandboxFault } from '../../../shared/tools/sandbox/sandboxed.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../../../shared/tools/tool.ts'
import { notInSandbox } from '../../../shared/tools/tool-endings.ts'
import { protectPrograms } from '../../../shared/tools/tool-program.ts'
import { until } from '../../support/inbox.ts'
import { declarationWith } from '../../support/messages.ts'
import { inSandboxes } from '../../support/sandboxes.ts'

const folders: string[] = []
let folder = ''
let work = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-sandbox-'))
  folders.push(folder)
  work = join(folder, 'work')
  mkdirSync(work)
})
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true })
})

const call: ToolCall = {
  arguments: '{}',
  idempotencyKey: 'key',
  timeoutMs: 20_000,
  graceMs: 5_000,
  clock: systemClock,
}

type How = { sandbox?: SandboxSetting; run?: Partial<CommandTool>; call?: Partial<ToolCall> }

function start(argv: string[], { sandbox = 'default', run, call: given }: How = {}): RunningTool {
  return startCommand(
    { kind: 'command', argv: argv as [string, ...string[]], cwd: work, sandbox, ...run },
    { ...call, ...given },
  )
}

/** Runs a shell script, with its error output in the result. */
function shell(script: string, how?: How): Promise<ToolEnding> {
  return start(['sh', '-c', `exec 2>&1; ${script}`], how).ended
}

async function textOf(script: string, how?: How): Promise<string> {
  return (await shell(script, how)).text
}

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

inSandboxes('a tool in a sandbox', () => {
  it('gets its arguments, runs in its working folder, and reports output and exit code', async () => {
    const echo = start(['sh', '-c', 'cat; pwd; touch made; exit 3'], {
      call: { arguments: '{"a":1}' },
    })
    expect(await echo.ended).toMatchObject({
      status: 'error',
      reason: `{"a":1}${work}`,
      text: expect.stringContaining('exit code 3'),
    })
    expect(existsSync(join(work, 'made'))).toBe(true)
  })

  it('starts with an argument that is too long for the name of a file', async () => {
    const script = `echo ${'x'.repeat(5_000)}`
    expect(await textOf(script)).toBe(`${'x'.repeat(5_000)}\n`)
  })

  it('reports a missing program as a tool without a sandbox does', async () => {
    const inside = await start(['/weir/no-such-program']).ended
    expect(inside).toEqual(await start(['/weir/no-such-program'], { sandbox: 'off' }).ended)
  })

  it('ends its work well when it is stopped, with its grace', async () => {
    const ready = join(work, 'ready')
    const tool = start([
      'sh',
      '-c',
      'trap "echo saved; exit 0" TERM; touch ready; while :; do sleep 0.05; done',
    ])
    await until(() => existsSync(ready))
    tool.stop(10_000, 'the test')
    expect(await tool.ended).toMatchObject({ status: 'ok', text: 'saved\n' })
  })
})

inSandboxes('secrets', () => {
  it('are not in the environment of any process that a tool sees', async () => {
    const other = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, KEY: 'sk-CANARY' } })
    const script = `tr '\\0' '\\n' < /proc/${other.pid}/environ`
    expect(await textOf(script, { sandbox: 'off' })).toContain('sk-CANARY')
    expect(await textOf(script)).not.toContain('sk-CANARY')
    const all = await textOf("cat /proc/[0-9]*/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u")
    expect(all.split('\n').filter((name) => /^\w+$/.test(name))).toEqual(
      expect.not.arrayContaining(['HOME', 'KEY', 'NODE_OPTIONS', 'JEST_WORKER_ID']),
    )
    other.kill()
  })

  it('of the data folder, the agent file and well-known files are invisible in a visible folder', async () => {
    mkdirSync(join(work, '.weir'))
    mkdirSync(join(work, '.ssh'))
    mkdirSync(join(work, 'elsewhere'))
    for (const name of ['.weir/weir.db', '.ssh/id', '.env', 'agent.yaml', 'elsewhere/weir.db'])
      writeFileSync(join(work, name), 'CANARY')
    protectOwnPath(join(work, 'agent.yaml'))
    protectOwnPath(join(work, 'elsewhere'))
    const script = 'grep -r CANARY . ; cat agent.yaml .env; ls .weir .ssh elsewhere'
    expect(await textOf(script, { sandbox: 'off' })).toContain('CANARY')
    expect(await textOf(script)).not.toContain('CANARY')
    const changed =
      'rm -rf .weir elsewhere; mv agent.yaml x; ln agent.yaml y; mv elsewhere z; ls -A'
    expect((await textOf(changed)).split('\n')).toEqual(
      expect.arrayContaining(['.weir', 'agent.yaml', 'elsewhere']),
    )
    expect(readFileSync(join(work, 'agent.yaml'), 'utf8')).toBe('CANARY')
  })

  it('are visible where the agent file lists exactly that path', async () => {
    const listed = join(folder, 'listed')
    mkdirSync(join(listed, '.weir'), { recursive: true })
    writeFileSync(join(listed, '.weir', 'x'), 'LISTED')
    writeFileSync(join(listed, '.env'), 'CANARY')
    const script = `cat ${listed}/.weir/x ${listed}/.env`
    const read = [join(listed, '.weir')]
    expect(await textOf(script, { sandbox: { read } })).toMatch(/LISTED(?!CANARY)/)
    expect(await textOf(script, { sandbox: { read: [listed] } })).not.toMatch(/LISTED|CANARY/)
  })

  it('are only listed where no tool can put a link', async () => {
    mkdirSync(join(work, 'data'), { recursive: true })
    writeFileSync(join(work, 'data', 'x'), 'INSIDE')
    for (const sandbox of [{ read: [join(work, 'data')] }, { write: [join(folder, 'data/sub')] }]) {
      mkdirSync(join(folder, 'data/sub'), { recursive: true })
      await textOf('true', { run: { cwd: join(folder, 'data') }, sandbox: 'default' })
      expect(await textOf('cat data/x', { sandbox })).toContain('SANDBOX')
    }
    const own = { write: [work, join(work, 'data')] }
    expect(await textOf('cat data/x; echo new > data/y; cat data/y', { sandbox: own })).toBe(
      'INSIDEnew\n',
    )
  })

  it('of other folders of the machine are not there', async () => {
    const secret = write('secret', 'CANARY')
    const script = `cat ${secret} /etc/shadow; ls / /root /home /var /run /etc/ssl/private`
    const text = await textOf(script)
    expect(text).not.toContain('CANARY')
    expect(text).not.toMatch(/^(var|home|root|run|srv|mnt|root:.*)$/m)
  })
})

inSandboxes('the machine and Weir', () => {
  it('are safe from signals: the tool sees only its own processes', async () => {
    const script = `kill -9 ${process.pid} ${process.ppid}; kill -0 ${process.pid}; ls -d /proc/[0-9]* | wc -l`
    const text = await textOf(script)
    expect(text).toContain('No such process')
    expect(Number(text.trim().split('\n').at(-1))).toBeLessThan(12)
  })

  it('are safe from a socket of Weir: it is not there, and no local port answers', async () => {
    const socket = join(work, 'owner.sock')
    const server = createSocketServer((client) => client.end('approved'))
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    const port = createServer((_, response) => void response.end('CANARY'))
    await new Promise<void>((resolve) => port.listen(0, '127.0.0.1', resolve))
    protectOwnPath(socket)
    const program = `
      const net = require('node:net')
      const at = (to, request) => new Promise((done) => net.connect(to).on('data', (d) => done(String(d))).on('connect', function () { this.write(request) }).on('error', (e) => done(e.code)))
      const port = at(${(port.address() as AddressInfo).port}, 'GET / HTTP/1.0\\r\\n\\r\\n')
      Promise.all([at(${JSON.stringify(socket)}, ''), port]).then((all) => console.log(all.join(' ')))`
    const ask = (sandbox: SandboxSetting) =>
      start([process.execPath, '-e', program], { sandbox }).ended
    expect((await ask('off')).text).toMatch(/approved .*CANARY/s)
    expect((await ask('default')).text).toMatch(/^E\w+ ECONNREFUSED/)
    server.close()
    port.close()
  })

  it('are safe from writes: only the working folder, /tmp and /dev/shm can be written', async () => {
    const places = '/x /usr/x /etc/x /dev/x /proc/sys/kernel/core_pattern /proc/self/comm'
    const script = `for place in ${places}; do if echo x 2>/dev/null > $place; then echo "wrote $place"; fi; done; echo x > y && echo x > /tmp/x && echo x > /dev/shm/x && echo end`
    expect((await textOf(script)).match(/wrote .*|^end$/gm)).toEqual(['end'])
  })

  it('are safe from capabilities: the tool has none, gains none, and cannot undo a mount', async () => {
    const script =
      'grep -E "^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)" /proc/self/status; mount -o remount,rw /usr; umount /usr; unshare --user --map-root-user --mount true && echo nested; true'
    const text = await textOf(script)
    expect(text.match(/^Cap\w+:\s+0+$/gm)).toHaveLength(4)
    expect(text).toMatch(/NoNewPrivs:\s+1/)
    expect(text).not.toContain('nested')
  })

  it('are safe from a process that left the group: it dies with the tool', async () => {
    const mark = `weir-survivor-${process.pid}`
    const script = `setsid sh -c 'exec -a ${mark} sleep 300' >/dev/null 2>&1 & nohup setsid bash -c 'exec -a ${mark} sleep 300' >/dev/null 2>&1 & sleep 0.3; echo done`
    expect(await shell(script)).toMatchObject({ status: 'ok', text: 'done\n' })
    await until(() => processesNamed(mark).length === 0)
    const stopped = start([
      'bash',
      '-c',
      `setsid bash -c 'exec -a ${mark} sleep 300' & touch on; wait`,
    ])
    await until(() => existsSync(join(work, 'on')))
    stopped.stop(0, 'the test')
    await stopped.ended
    await until(() => processesNamed(mark).length === 0)
  })
})

inSandboxes('the bounds of a sandbox', () => {
  it('end a tool that takes more memory, and all processes count together', async () => {
    const hog = 'const all = []; setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 5)'
    const sandbox = { memory: '192MiB' }
    expect(await start([process.execPath, '-e', hog], { sandbox }).ended).toMatchObject({
      status: 'error',
      reason: 'used more than 192 MiB of memory',
    })
    const half = 'const one = Buffer.alloc(110 << 20, 1); setTimeout(() => one, 60000)'
    const both = `for (const n of [1, 2]) require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(half)}])`
    expect(await start([process.execPath, '-e', both], { sandbox }).ended).toMatchObject({
      reason: 'used more than 192 MiB of memory',
    })
  })

  // For root only a cgroup holds while this process gets no time to look.
  const withCap = process.getuid?.() !== 0 || hasProcessCap() ? it : it.skip
  withCap('end a fork bomb', async () => {
    const bomb = 'b() { b | b & }; b; sleep 30'
    const ending = await start(['bash', '-c', bomb], {
      sandbox: { processes: 40 },
      call: { timeoutMs: 4_000, graceMs: 0 },
    }).ended
    expect(ending.status).toMatch(/error|timed_out/) // bash tries again where prlimit refuses it
    expect(ending.text).toMatch(/40 processes|Resource temporarily unavailable/)
  })

  withCap('keep a fork bomb from every other sandbox', async () => {
    // Bash starts no process for its own commands, and none can be started any more.
    const waits = 'read -t 2 <> never; : > full; read -t 30 <> never'
    const bomb = start(['bash', '-c', `mkfifo never; b() { b | b & }; b; ${waits}`], {
      sandbox: { processes: 1_200 },
      call: { timeoutMs: 100_000, graceMs: 0 },
    })
    await until(() => existsSync(join(work, 'full')))
    expect(await textOf('echo well')).toBe('well\n')
    bomb.stop(0, 'the test')
    await bomb.ended
  })

  it('fill no disk and no memory of the machine through /tmp and /dev/shm', async () => {
    const script =
      'head -c 200000000 /dev/zero > /tmp/x; head -c 200000000 /dev/zero > /dev/shm/x; ls -l /tmp/x /dev/shm/x'
    const text = await textOf(script, { sandbox: { memory: '64MiB' } })
    expect(text).toContain('No space left on device')
  })

  it('end a process that computes too long', async () => {
    const ending = await start(['sh', '-c', 'while :; do :; done'], { sandbox: { cpuSeconds: 1 } })
      .ended
    expect(ending.status).toBe('error')
  })
})

inSandboxes('other tools', () => {
  it('see nothing that a tool left in /tmp', async () => {
    expect(await textOf('echo CANARY > /tmp/weir-left; cat /tmp/weir-left')).toBe('CANARY\n')
    expect(await textOf('cat /tmp/weir-left')).toContain('No such file')
    expect(existsSync('/tmp/weir-left')).toBe(false)
  })

  it('and the tool itself keep their programs: no sandbox can change them', async () => {
    mkdirSync(join(work, 'tools'))
    for (const name of ['own.sh', 'other.sh', 'tools/deploy.sh', 'tools/library.sh'])
      writeFileSync(join(work, name), 'cat; echo first')
    const run = (argv: [string, ...string[]]): CommandTool => ({ kind: 'command', argv, cwd: work })
    const tools = [run(['sh', 'other.sh']), run(['sh', 'tools/deploy.sh'])].map((one) => ({
      declaration: declarationWith({ name: 'x', timeoutMs: 1 }),
      run: one,
    }))
    protectPrograms(
      new Map([
        [
          'a',
          {
            name: 'a',
            system: '',
            model: { provider: 'p', name: 'm', apiKey: '', maxOutputTokens: 1 },
            settings: defaultSettings,
            tools,
          },
        ],
      ]),
    )
    writeFileSync(
      join(work, 'own.sh'),
      'for f in own.sh other.sh tools/deploy.sh tools/library.sh; do echo evil > $f; rm -f $f; mv $f x; done; mv tools gone; mkdir -p tools; echo end',
    )
    const sandbox = { write: [work] }
    const attack = () => startCommand({ ...run(['sh', 'own.sh']), sandbox }, call).ended
    expect((await attack()).text).toBe('end\n')
    for (const name of ['other.sh', 'tools/deploy.sh', 'tools/library.sh'])
      expect(readFileSync(join(work, name), 'utf8')).toBe('cat; echo first')
    expect(readFileSync(join(work, 'own.sh'), 'utf8')).toMatch(/^for f/)
  })
})

inSandboxes('a working folder with the program of a tool', () => {
  const plant = 'echo "echo evil" > helper.sh; mkdir node_modules'

  it('is read-only, so no call leaves a file that the program loads later', async () => {
    write('work/tool.sh', `${plant}; ls`)
    const argv = ['sh', 'tool.sh']
    expect((await start(argv).ended).text).toBe('tool.sh\n')
    const cwd = join(folder, 'other')
    mkdirSync(cwd)
    expect(await textOf(`${plant}; ls`, { run: { cwd } })).toContain('helper.sh')
    protectOwnPath(cwd, 'read-only')
    expect(await textOf('echo evil > late', { run: { cwd } })).toContain('Read-only')
  })

  it('is writable if the sandbox lists it, without the program itself', async () => {
    write('work/tool.sh', 'echo evil > tool.sh; echo x > made; cat made')
    const { text } = await start(['sh', 'tool.sh'], { sandbox: { write: [work] } }).ended
    expect(text).toContain('x\n')
    expect(readFileSync(join(work, 'tool.sh'), 'utf8')).toContain('made')
  })
})

inSandboxes('a folder with an agent file', () => {
  const plants = [
    ...['node_modules/dep/index.js', 'tools/node_modules/dep/index.js', 'lib/u.mjs', 'Makefile'],
    ...[
      'btool.py',
      'tools/new.mjs',
      'weir.yaml',
      'weir.json',
      'other.yaml',
      'arguments.schema.json',
    ],
  ]
  const plant = plants.map((name) => `mkdir -p $(dirname ${name}); echo evil > ${name}`).join('; ')
  const planted = () => plants.filter((name) => existsSync(join(work, name)))

  beforeEach(() => {
    for (const name of ['tools', 'lib', 'files']) mkdirSync(join(work, name))
    write('work/agent.yaml', 'AGENT')
    protectAgentFile(join(work, 'agent.yaml'))
  })

  it('takes no program, no package and no agent file of a tool that works there', async () => {
    expect(await textOf(`${plant}; ls > /tmp/x && echo end`)).toMatch(/Read-only[\s\S]*end\n$/)
    expect(planted()).toEqual([])
    await textOf(plant, { sandbox: 'off' })
    expect(planted()).toEqual(plants)
  })

  it.each([
    ['a folder above it', () => folder],
    [
      'a link to it',
      () => {
        symlinkSync(work, join(folder, 'link'))
        return join(folder, 'link')
      },
    ],
    [
      'a folder with a link to the file',
      () => {
        mkdirSync(join(folder, 'links'))
        symlinkSync(join(work, 'agent.yaml'), join(folder, 'links', 'b.yaml'))
        protectAgentFile(join(folder, 'links', 'b.yaml'))
        return join(folder, 'links')
      },
    ],
  ])('is read-only also as %s', async (_, place) => {
    const cwd = place()
    expect(await textOf('echo evil > made', { run: { cwd } })).toContain('Read-only')
    expect(existsSync(join(cwd, 'made'))).toBe(false)
    const ending = await shell('echo ran', { run: { cwd }, sandbox: { write: [cwd] } })
    expect(ending.fault).toContain(`${cwd} cannot be writable: it holds the agent file`)
  })

  it('has writable folders below it, as working folder and as listed path', async () => {
    const files = join(work, 'files')
    expect(await textOf('echo x > a; cat a', { run: { cwd: files } })).toBe('x\n')
    const sandbox = { write: [files] }
    expect(await textOf('echo y > files/b; cat files/b; mv files x', { sandbox })).toMatch(/^y$/m)
    expect(await textOf('echo evil > ../lib/u.mjs', { run: { cwd: files } })).not.toBe('')
    expect(planted()).toEqual([])
  })

  it('keeps the schema of a tool also in a writable folder', async () => {
    write('work/files/a.schema.json', '{"type":"object"}')
    protectOwnPath(join(work, 'files', 'a.schema.json'), 'read-only')
    const script = 'echo evil > a.schema.json; mv a.schema.json x; rm -f a.schema.json; true'
    await textOf(script, { run: { cwd: join(work, 'files') } })
    expect(readFileSync(join(work, 'files', 'a.schema.json'), 'utf8')).toBe('{"type":"object"}')
  })

  it('keeps each weir.yaml and weir.json that a writable folder has', async () => {
    for (const name of ['weir.yaml', 'weir.json']) write(`work/files/${name}`, 'CANARY')
    const script = 'cat weir.*; for f in weir.*; do echo evil > $f; mv $f x; rm -f $f; done'
    expect(await textOf(script, { run: { cwd: join(work, 'files') } })).not.toContain('CANARY')
    for (const name of ['weir.yaml', 'weir.json'])
      expect(readFileSync(join(work, 'files', name), 'utf8')).toBe('CANARY')
  })
})

inSandboxes('a listed path', () => {
  it('is resolved, with its links and with ..', async () => {
    mkdirSync(join(folder, 'data'))
    write('data/x', 'DATA')
    symlinkSync('data', join(folder, 'link'))
    const sandbox = { read: [join(folder, 'link', '..', 'link')] }
    expect(await textOf(`cat ${folder}/link/x ${folder}/data/x`, { sandbox })).toBe('DATADATA')
    expect(await textOf(`echo y > ${folder}/data/x`, { sandbox })).toContain('Read-only')
    const writable = { write: [join(folder, 'data')] }
    expect(
      await textOf(`echo y > ${folder}/data/x; cat ${folder}/data/x`, { sandbox: writable }),
    ).toBe('y\n')
  })

  it('that is missing keeps the tool from starting', async () => {
    const ending = await shell('echo ran', { sandbox: { read: [join(folder, 'missing')] } })
    expect(ending).toMatchObject({ status: 'error', reason: 'could not be started: SANDBOX' })
    expect(ending.fault).toContain(`${join(folder, 'missing')} (ENOENT) is not there`)
    expect(ending.text).not.toContain('missing')
  })

  it.each(['/', '/proc', '/sys', '/dev', '/usr', '/etc', '/bin/../usr/bin'])(
    'must not be %s for writing',
    async (path) => {
      const ending = await shell('echo ran', { sandbox: { write: [path] } })
      expect(ending.fault).toMatch(/cannot be a path of a sandbox|is not there/)
    },
  )

  it('must not lead through a link that an earlier call may have written', async () => {
    mkdirSync(join(folder, 'private'))
    write('private/key', 'CANARY')
    mkdirSync(join(work, 'data'))
    const sandbox = { read: [join(work, 'data')] }
    // A call of a tool that may write there, for example one with another sandbox.
    await textOf(`rmdir data && ln -s ${folder}/private data`)
    expect(readlinkSync(join(work, 'data'))).toBe(join(folder, 'private'))
    const ending = await shell(`cat data/key ${folder}/private/key`, { sandbox })
    expect(ending.fault).toContain('leads through the link')
    expect(ending.text).not.toContain('CANARY')
  })

  it.each(['read', 'write', 'cwd'])(
    'in %s must not lead through a link in the folder of another tool that has not run yet',
    async (member) => {
      mkdirSync(join(folder, 'private'))
      write('private/key', 'CANARY')
      mkdirSync(join(folder, 'other'))
      const data = join(work, 'data')
      symlinkSync(join(folder, 'private'), data) // by a call before this process began
      const writer = { kind: 'command' as const, argv: ['true'] as [string], cwd: work }
      const tools = [{ declaration: declarationWith({}), run: { ...writer, sandbox: {} } }]
      const model = { provider: 'p', name: 'm', apiKey: '', maxOutputTokens: 1 }
      const agent = { name: 'a', system: '', model, settings: defaultSettings, tools }
      prepareSandboxes(new Map([['a', agent]]), { error() {} })
      const cwd = member === 'cwd' ? data : join(folder, 'other')
      const sandbox = member === 'cwd' ? {} : { [member]: [data] }
      const ending = await shell(`cat ${data}/key; echo x > ${data}/planted`, {
        sandbox,
        run: { cwd },
      })
      expect(ending.fault).toContain('leads through the link')
      expect(ending.text).not.toContain('CANARY')
      expect(existsSync(join(folder, 'private', 'planted'))).toBe(false)
    },
  )

  it('does not reach out through a link inside of it', async () => {
    const secret = write('secret', 'CANARY')
    symlinkSync(secret, join(work, 'link'))
    expect(await textOf('cat link', { sandbox: 'off' })).toBe('CANARY')
    expect(await textOf('cat link; echo x > link')).not.toContain('CANARY')
    expect(readFileSync(secret, 'utf8')).toBe('CANARY')
  })
})

inSandboxes('a module in a sandbox', () => {
  const modules = moduleTools()
  afterAll(() => modules.close())

  function module(source: string, run: Partial<ModuleTool> = {}, given: Partial<ToolCall> = {}) {
    mkdirSync(join(folder, 'tools'), { recursive: true })
    const file = write(`tools/${folder.length}-${source.length}.mjs`, source)
    const tool: ModuleTool = { kind: 'module', file, cwd: work, sandbox: 'default', ...run }
    return modules.start(tool, { ...call, ...given }).ended
  }

  const look = (argument: string) => `
    import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
    export default async function look() {
      const attempts = ${argument}
      return attempts.map((attempt) => { try { return String(attempt()) } catch (error) { return error.code } })
    }`

  it('works in its working folder and sees nothing outside', async () => {
    const secret = write('secret', 'CANARY')
    const source = look(`[
      () => process.cwd(), () => writeFileSync('made', 'x'), () => readFileSync('${secret}'),
      () => writeFileSync(import.meta.filename, 'evil'), () => writeFileSync('/tmp/x', 'x'),
      () => readdirSync('/proc').filter((name) => name > 0).length < 12, () => process.kill(${process.pid}),
    ]`)
    const { status, text } = await module(source)
    expect({ status, found: JSON.parse(text) }).toEqual({
      status: 'ok',
      found: [work, 'undefined', 'ENOENT', 'EROFS', 'undefined', 'true', 'ESRCH'],
    })
    const { text: outside } = await module(source.replace(`process.kill(${process.pid})`, '0'), {
      sandbox: 'off',
    })
    expect(JSON.parse(outside)).toContain('CANARY')
  })

  it('finds the packages next to it', async () => {
    mkdirSync(join(folder, 'node_modules', 'a-package'), { recursive: true })
    write('node_modules/a-package/index.js', 'module.exports = "found"')
    const source = `import found from 'a-package'; export default () => found`
    expect(await module(source)).toMatchObject({ status: 'ok', text: 'found' })
  })

  it('is stopped with all that it started, and at its bound of memory', async () => {
    const mark = `weir-module-${process.pid}`
    const child = `import { spawn } from 'node:child_process'
      export default () => new Promise(() => { spawn('bash', ['-c', 'exec -a ${mark} sleep 300'], { detached: true, stdio: 'ignore' }) })`
    expect(await module(child, {}, { timeoutMs: 1_500, graceMs: 0 })).toMatchObject({
      status: 'timed_out',
    })
    await until(() => processesNamed(mark).length === 0)
    const hog = `export default () => new Promise(() => { const all = []; setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 5) })`
    expect(await module(hog, { sandbox: { memory: '256MiB' } })).toMatchObject({
      status: 'error',
      reason: 'used more than 256 MiB of memory',
    })
  })

  it('does not start if its sandbox cannot be made', async () => {
    const sandbox = { read: [join(folder, 'missing')] }
    expect(await module('export default () => "ran"', { sandbox })).toMatchObject({
      status: 'error',
      reason: 'could not be started: SANDBOX',
    })
  })
})

describe('a tool whose sandbox cannot be made', () => {
  const run: CommandTool = { kind: 'command', argv: ['true'], sandbox: 'default' }

  it('does not start', () => {
    const missing = () =>
      sandboxed(run, { argv: ['true'], statusFd: 3, found: { missing: 'nothing is installed' } })
    expect(missing).toThrow('no sandbox can be made here: nothing is installed')
    try {
      missing()
    } catch (error) {
      expect(sandboxFault(error)).toEqual(
        notInSandbox('no sandbox can be made here: nothing is installed'),
      )
    }
  })

  it.each<[SandboxSetting, string]>([
    [{ memory: 'much' }, 'sandbox.memory is much'],
    [{ memory: 5 }, 'sandbox.memory is 5'],
    [{ processes: 0.5 }, 'sandbox.processes is 0.5'],
    [{ network: ['a/b'] }, 'sandbox.network has a/b'],
  ])('does not start with %j of a program that builds its agents', (sandbox, fault) => {
    const start = () => sandboxed({ ...run, sandbox }, { argv: ['true'], statusFd: 3 })
    expect(start).toThrow(fault)
  })
})

inSandboxes('a tool with a list of hosts', () => {
  it('of kind module reaches a listed host and no other', async () => {
    const server = createServer((_, response) => void response.end('CANARY'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const file = write('fetch.mjs', `export default async ({ url }) => (await fetch(url)).text()`)
    const modules = moduleTools()
    const get = async (host: string) => {
      const sandbox = { network: [`127.0.0.1:${port}`] }
      const given = { ...call, arguments: `{"url":"http://${host}:${port}/"}` }
      return (await modules.start({ kind: 'module', file, cwd: work, sandbox }, given).ended).text
    }
    expect(await get('127.0.0.1')).toBe('CANARY')
    expect(await get('127.0.0.2')).not.toContain('CANARY')
    modules.close()
    server.close()
  })

  it('reaches a port of this machine by the name localhost only if the list has that name', async () => {
    const server = createServer((_, response) => void response.end('CANARY'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const file = write('fetch.mjs', `export default async ({ url }) => (await fetch(url)).text()`)
    const modules = moduleTools()
    const get = async (host: string, listed: string) => {
      const given = { ...call, arguments: `{"url":"http://${host}:${port}/"}` }
      const sandbox = { network: [`${listed}:${port}`] }
      return (await modules.start({ kind: 'module', file, cwd: work, sandbox }, given).ended).text
    }
    expect(await get('localhost', 'localhost')).toBe('CANARY')
    expect(await get('127.0.0.1', 'localhost')).not.toContain('CANARY')
    modules.close()
    server.close()
  })

  it('reaches a listed host by URL and by tunnel, and no other', async () => {
    const server = createServer((request, response) => {
      response.end(`${request.url} ${request.headers.host}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const program = `
      const get = (url) => fetch(url, { redirect: 'manual' }).then(async (r) => r.status + ' ' + (await r.text()).trim(), (e) => 'failed')
      Promise.all(process.argv.slice(1).map(get)).then((all) => console.log(all.join('\\n')))`
    const listed = `http://127.0.0.1:${port}/a`
    const others = [
      `http://127.0.0.2:${port}/b`,
      `http://localhost:${port}/b`,
      `http://[::1]:${port}/b`,
    ]
    const ending = await start([process.execPath, '-e', program, listed, ...others], {
      sandbox: { network: [`127.0.0.1:${port}`] },
    }).ended
    const lines = ending.text.trim().split('\n')
    expect(lines[0]).toBe(`200 /a 127.0.0.1:${port}`)
    for (const line of lines.slice(1))
      expect(line).toMatch(/^(403 .* is not in the network list|failed)/)
    server.close()
  })

  it('reaches nothing around the proxy', async () => {
    const script = 'cat /proc/net/dev | grep -c :; cat /proc/net/route | wc -l'
    expect(await textOf(script, { sandbox: { network: ['example.com'] } })).toBe('1\n1\n')
  })
})

function processesNamed(name: string): string[] {
  const all = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n')
  return all.filter((line) => line.includes(name) && !/^Z/.test(line.trim()))
}
