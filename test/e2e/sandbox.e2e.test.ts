// A tool's attacks on the Weir that runs it, with a real `weir ask`: keys, log, agent file and
// commands. Each succeeds with `sandbox: off`.

import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { inSandboxes } from '../support/sandboxes.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder, patientMs } from '../support/weir-command.ts'

const checkout = join(import.meta.dirname, '../..')
const attacks = {
  keys: `tr '\\0' '\\n' < /proc/$PPID/environ | grep ^TEST_CANARY; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -m 1 ^TEST_CANARY`,
  log: 'head -c 15 .weir/weir.db; grep -c attack-me .weir/weir.db*',
  policy: `${join(checkout, 'bin/weir')} policy set '*' caps.rounds=3 --data-folder .weir 2>&1 && echo changed`,
  agent: 'cat agent.yaml && echo evil >> agent.yaml; echo done',
  program: 'echo evil >> tools/run.sh; cat tools/run.sh',
}

let commands: CommandFolder
beforeEach(async () => {
  const calls = Object.values(attacks).map((command) => call('shell', { command }))
  commands = await openCommandFolder(script(says(...calls), says(text('Done.'))))
})
afterEach(() => commands.close())

async function attack(sandbox: string): Promise<Record<string, string>> {
  const { folder, server } = commands
  mkdirSync(join(folder, 'tools'))
  const program = `eval "$(${process.execPath} -p 'JSON.parse(require("fs").readFileSync(0)).command')"`
  writeFileSync(join(folder, 'tools', 'run.sh'), `# attack-me\n${program}\n`)
  writeFileSync(
    join(folder, 'agent.yaml'),
    `system: x
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
sandbox: ${sandbox}
tools:
  - name: shell
    description: runs a command
    schema: { type: object, properties: { command: { type: string } }, required: [command] }
    timeoutMs: ${patientMs}
    command: [sh, tools/run.sh]
`,
  )
  const ended = await commands.run(['ask', '--agent', 'agent.yaml', 'attack-me'], {
    environment: { TEST_CANARY: 'sk-secret' },
  })
  expect({ code: ended.code, errors: ended.errors }).toMatchObject({ code: 0 })
  const results = resultsOf(server.requests[1])
  return Object.fromEntries(Object.keys(attacks).map((name, at) => [name, String(results[at])]))
}

inSandboxes('a tool that attacks its Weir', () => {
  it('has the keys, the log, the policies and all files without a sandbox', async () => {
    const found = await attack('off')
    expect(found).toMatchObject({
      log: expect.stringContaining('SQLite format 3'),
      policy: expect.stringContaining('changed'),
      agent: expect.stringContaining('system: x'),
      program: expect.stringContaining('evil'),
    })
  })

  it('has none of them in a sandbox, even if the checkout of Weir is listed', async () => {
    // Node.js and Weir's own command are visible, so that only the sandbox stops them.
    const found = await attack(`{ read: [${JSON.stringify(checkout)}] }`)
    expect(found.keys).not.toContain('sk-secret')
    expect(found.log).not.toContain('SQLite')
    expect(found.policy).not.toContain('changed')
    expect(found.agent).not.toContain('system: x')
    expect(found.program).toContain('# attack-me')
    expect(found.policy).toContain('weir')
    expect(found.program).not.toContain('evil\n')
    expect(readFileSync(join(commands.folder, 'agent.yaml'), 'utf8')).not.toContain('evil')
    expect(readFileSync(join(commands.folder, 'tools', 'run.sh'), 'utf8')).not.toContain('evil')
  })
})

inSandboxes('a tool whose listed folder was replaced by a link before Weir started again', () => {
  it('does not start, although the tool that made the link has not run in this process', async () => {
    const model = script(
      says(call('replace', {})),
      says(text('Done.')),
      says(call('show', {})),
      says(text('Done.')),
    )
    await commands.close()
    commands = await openCommandFolder(model)
    const { folder, server } = commands
    for (const name of ['files', 'files/data', 'other', 'private']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'private', 'key'), 'CANARY')
    const tool = (name: string, fields: string, command: string) =>
      `  - { name: ${name}, description: x, schema: { type: object }, timeoutMs: ${patientMs}, ${fields}, command: [sh, -c, '${command}'] }`
    writeFileSync(
      join(folder, 'agent.yaml'),
      `system: x
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
fallback: This is the fallback.
tools:
${tool('replace', 'cwd: files, sandbox: default', `rmdir data && ln -s ${folder}/private data`)}
${tool('show', 'cwd: other, sandbox: { read: [files/data] }', `cat ${folder}/files/data/key ${folder}/private/key`)}
`,
    )
    const ask = () => commands.run(['ask', '--agent', 'agent.yaml', 'go'])
    expect(await ask()).toMatchObject({ code: 0 })
    expect(readlinkSync(join(folder, 'files', 'data'))).toBe(join(folder, 'private'))
    const { code, errors } = await ask()
    expect([code, errors]).toEqual([0, expect.stringContaining('leads through the link')])
    expect(String(resultsOf(server.requests[3])[0])).not.toContain('CANARY')
  })
})
