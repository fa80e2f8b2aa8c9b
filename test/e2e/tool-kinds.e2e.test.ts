// One round that calls a tool of each kind, through all stages: a program, a server, a function.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import type { Tool, ToolRun } from '../../shared/agents/agents.ts'
import { recordedTool, withPipeline } from '../support/pipeline.ts'
import { call, resultsOf, says, script } from '../support/script.ts'

const secret = 'key-of-the-weather-server'

type Weather = { url: string; keys: string[]; atOnceMost: number; close(): void }

/**
 * Answers with the town and the credential that it got, a moment after `together` requests wait at once.
 * Counts idempotency keys and parallel calls.
 */
async function startWeather({ together = 1 } = {}): Promise<Weather> {
  const weather: Weather = { url: '', keys: [], atOnceMost: 0, close: () => server.close() }
  let atOnce = 0
  const { promise: haveMet, resolve: meet } = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    atOnce += 1
    weather.atOnceMost = Math.max(weather.atOnceMost, atOnce)
    weather.keys.push(String(request.headers['idempotency-key']))
    const { town } = JSON.parse((await request.toArray()).join('')) as { town: string }
    if (atOnce === together) meet()
    await haveMet
    await new Promise((resolve) => setTimeout(resolve, 50)) // a call too many would come meanwhile
    atOnce -= 1
    response
      .writeHead(town === 'nowhere' ? 404 : 200)
      .end(`${town} (${request.headers.authorization})`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  weather.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`
  return weather
}

function toolOf(file: string, name: string, run: ToolRun, fields: Partial<Tool> = {}): Tool {
  return {
    ...recordedTool({ name, schema: { type: 'object' }, fields: { timeoutMs: 60_000 } }, file),
    run,
    ...fields,
  }
}

describe('tools of all kinds', () => {
  it('give their results in one round, keep secrets of the agent file, and get their own idempotency key', async () => {
    const weather = await startWeather()
    const tools = (file: string) => [
      recordedTool({ name: 'exec', required: ['command'] }, file),
      toolOf(file, 'weather', {
        kind: 'http',
        url: weather.url,
        headers: { authorization: `Bearer ${secret}` },
      }),
      toolOf(file, 'module', {
        kind: 'module',
        file: fileURLToPath(new URL('../support/tools/module-behave.ts', import.meta.url)),
      }),
    ]
    const calls = [
      call('exec', { command: 'ls' }),
      call('weather', { town: 'Ulm' }),
      call('weather', { town: 'nowhere' }),
      call('module', { how: 'key' }),
      call('module', { how: 'exit', size: 3 }),
    ]
    await withPipeline({ model: script(says(...calls)), tools }, async (pipeline) => {
      const { finished, activity } = await pipeline.ask('go')
      expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 5 } })
      const results = resultsOf(pipeline.server.requests[1])
      const key = (ordinal: number) => JSON.stringify(['c', finished.turn, 1, ordinal])
      expect(results).toEqual([
        'ran: ls',
        'Ulm ([secret])',
        'The tool answered HTTP 404 (Not Found).\nIts answer:\nnowhere ([secret])',
        key(3),
        expect.stringContaining("The tool's process ended (exit code 3)"),
      ])
      expect(weather.keys.sort()).toEqual([key(1), key(2)])
      expect(activity.filter(({ type }) => type === 'tool-started')).toHaveLength(5)
      const inbox = JSON.stringify(await pipeline.records('rounds-cleared'))
      expect(inbox + pipeline.log.join() + JSON.stringify(activity)).not.toMatch(
        new RegExp(`${secret}|secret-path|module-behave`),
      )
    }).finally(weather.close)
  })

  it('run no more calls of one turn at once than half of their concurrency', async () => {
    const weather = await startWeather({ together: 2 })
    const run: ToolRun = { kind: 'http', url: weather.url, headers: {} }
    const tools = (file: string) => [toolOf(file, 'weather', run, { concurrency: 4 })]
    const calls = ['Ulm', 'Ems', 'Aue', 'Goch', 'Hof'].map((town) => call('weather', { town }))
    await withPipeline({ model: script(says(...calls)), tools }, async (pipeline) => {
      await pipeline.ask('go')
      expect(resultsOf(pipeline.server.requests[1])).toHaveLength(5)
      expect(weather.atOnceMost).toBe(2)
    }).finally(weather.close)
  })
})
