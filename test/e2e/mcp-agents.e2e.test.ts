// Agents with MCP servers over the HTTP edge: in the process of the stages, and in a process that
// runs the stages of a folder itself.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { serverCommand } from '../support/mcp/gateway.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let commands: CommandFolder

beforeEach(async () => {
  commands = await openCommandFolder(
    script(says(call('test__weather', { city: 'Rome' })), says(text('It is warm.'))),
  )
  await writeAgent()
})

async function writeAgent(): Promise<void> {
  const model = `{ provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }`
  const mcp = `{ test: { command: ${JSON.stringify(serverCommand)} } }`
  await writeFile(
    join(commands.folder, 'agent.yaml'),
    `system: Help.\nmodel: ${model}\nsandbox: off\nmcp: ${mcp}\n`,
  )
}

afterEach(() => commands.close())

async function answerOf(url: string): Promise<string> {
  const body = JSON.stringify({ model: 'weir/agent', input: 'How is Rome?' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
  return answer.text()
}

describe('a question of an MCP server', () => {
  it('is listed and answered by commands, next to the process that runs the call', async () => {
    await commands.close()
    commands = await openCommandFolder(script(says(call('test__ask', {})), says(text('Booked.'))))
    await writeAgent()
    const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c', 'Book a seat.']
    const asking = commands.start(ask)
    await asking.shows('test__ask runs and needs input (the server test asks: Which seat?')
    const { out } = await commands.run(['approvals'])
    expect(out).toContain('    seat (one of "aisle", "window"; required): Where to sit\n')
    expect(out).toContain('    meals (integer; default 1)\n')
    expect(out).not.toContain('\u001b[2J')
    const [id = ''] = out.split(' ')
    expect(await commands.run(['allow', id])).toMatchObject({
      code: 2,
      errors: expect.stringContaining("must have required property 'seat'"),
    })
    expect(await commands.run(['allow', id, '--values', '{"seat":"window"}'])).toMatchObject({
      code: 0,
      out: `Answered: ${id}. test__ask goes on with your values.\n`,
    })
    expect((await asking.ended).out).toContain('Booked.')
    const shown = (await commands.run(['inspect', 'c'])).out
    expect(shown).toMatch(/call 0 needed input: allowed by \S+ \(claimed\) after /)
    expect(resultsOf(commands.server.requests[1])[0]).toContain('"seat":"window"')
  })

  it('is withdrawn when its process is killed, and the outcome of its call is unknown', async () => {
    await commands.close()
    const replies = [says(call('test__ask', {})), says(text('Sorry.')), says(text('Hello.'))]
    commands = await openCommandFolder(script(...replies))
    await writeAgent()
    const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']
    const asking = commands.start([...ask, 'Book a seat.'])
    await asking.shows('test__ask runs and needs input')
    asking.child.kill('SIGKILL')
    await asking.ended
    expect((await commands.run([...ask, 'Hello.'])).out).toContain('Hello.')
    expect(resultsOf(commands.server.requests[1])[0]).toMatch(/outcome.*unknown|may have run/s)
    expect((await commands.run(['approvals'])).out).toBe('nothing waits for a decision\n')
  })
})

describe('an agent with an MCP server', () => {
  it('answers over the HTTP edge of weir up', async () => {
    const up = startUp(commands, {
      args: ['--http-port', '0', '--keyless', '--agents', 'agent.yaml'],
    })
    const { edge } = await up.line('the HTTP edge is started')
    expect(await answerOf(String(edge))).toContain('It is warm.')
    expect(resultsOf(commands.server.requests[1])).toEqual(['18 °C in Rome'])
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  it('answers over weir serve', async () => {
    const args = ['serve', '--http-port', '0', '--keyless', '--json', '--agents', 'agent.yaml']
    const { child, ended } = commands.start(args)
    const [line] = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      ended.then(({ errors }) => {
        throw new Error(errors)
      }),
    ])
    const { url } = JSON.parse(String(line)) as { url: string }
    expect(await answerOf(url)).toContain('It is warm.')
    expect(resultsOf(commands.server.requests[1])).toEqual(['18 °C in Rome'])
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })
})
