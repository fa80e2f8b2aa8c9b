// The files of `weir init`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { init, withSandbox } from '../../../../apps/cli/init/init.ts'
import { loadAgents } from '../../../../client/weir.ts'
import { agentFolder } from '../../../shared/agents/file/agent-folder.ts'

const template = join(import.meta.dirname, '../../../../apps/cli/init/templates/agent-file')
const file = (name: string) => readFileSync(join(template, name), 'utf8')
const environment = {
  ANTHROPIC_API_KEY: 'key',
  TICKETS_TOKEN: 'token-0123456789',
  PATH: process.env.PATH,
}

describe('the files of weir init', () => {
  it.each([
    ['My Bot!', 'my-bot'],
    ['123', '123'],
    ['…', 'agent'],
  ])('name the agent after the folder %s', async (name, agent) => {
    const parent = mkdtempSync(join(tmpdir(), 'weir-init-'))
    try {
      const out = new PassThrough() as unknown as NodeJS.WriteStream
      await init(join(parent, name), 'agent-file', {}, out)
      await init(join(parent, name, 'ts'), 'typescript', {}, out)
      expect([...loadAgents(join(parent, name), environment).keys()]).toEqual([agent])
      expect(readFileSync(join(parent, name, 'ts/agent.ts'), 'utf8')).toContain("name: 'ts',")
    } finally {
      rmSync(parent, { recursive: true })
    }
  })

  it('are a usable agent, with a program and a module as tools', () => {
    const agent = loadAgents(join(template, 'agent.yaml'), environment).get('starter')
    expect(agent?.model).toEqual({
      provider: 'anthropic',
      name: 'claude-sonnet-5-5',
      apiKey: 'key',
      maxOutputTokens: 4096,
    })
    expect(agent?.tools.map(({ declaration, run }) => [declaration.name, run.kind])).toEqual([
      ['list_files', 'command'],
      ['read_file', 'module'],
    ])
  })

  it('put every tool into a sandbox, with a working folder apart from the agent file', () => {
    const agent = loadAgents(join(template, 'agent.yaml'), environment).get('starter')
    for (const { run } of agent?.tools ?? [])
      expect(run).toMatchObject({ sandbox: 'default', cwd: join(template, 'files') })
  })

  it('write the sandbox off, with a comment, where the machine can make none', () => {
    const text = withSandbox(file('agent.yaml'), { missing: 'nothing is installed' })
    expect(text).toMatch(/^sandbox: off # this machine can make none .*$/m)
    expect(text).not.toMatch(/^sandbox: default$/m)
    const folder = agentFolder({
      'agent.yaml': text,
      'files/notes.txt': '',
      'tools/list-files.mjs': file('tools/list-files.mjs'),
      'tools/read-file.mjs': file('tools/read-file.mjs'),
    })
    const agent = loadAgents(join(folder.path, 'agent.yaml'), environment).get('starter')
    folder.remove()
    expect(agent?.tools.map(({ run }) => run)).toEqual([
      expect.objectContaining({ sandbox: 'off' }),
      expect.objectContaining({ sandbox: 'off' }),
    ])
  })

  it('contain a tool over a URL that works once its # are removed', () => {
    const lines = file('agent.yaml').split('\n')
    const first = lines.findIndex((line) => line.includes('# - name: search_tickets'))
    const text = lines.map((line, i) => (i < first ? line : line.replace('# ', ''))).join('\n')
    const folder = agentFolder({
      'agent.yaml': text,
      'files/notes.txt': file('files/notes.txt'),
      'tools/list-files.mjs': file('tools/list-files.mjs'),
      'tools/read-file.mjs': file('tools/read-file.mjs'),
    })
    try {
      const agent = loadAgents(join(folder.path, 'agent.yaml'), environment).get('starter')
      expect(agent?.tools.at(-1)?.run).toEqual({
        kind: 'http',
        url: 'https://tickets.example.com/api/search',
        headers: { Authorization: 'Bearer token-0123456789' },
        secrets: ['token-0123456789'],
      })
    } finally {
      folder.remove()
    }
  })
})
