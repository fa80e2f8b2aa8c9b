// A program: one request behind the proxy with a veto, whose first answer has one denied call. Prints the
// used files as JSON.

import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { startFrontServer } from '../../apps/http/front-server.ts'
import { openFronts } from '../../client/guard/log/fronts.ts'
import { scriptedUpstream } from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { speaking } from '../apps/http/fronts/proxy/veto/answers.ts'
import { countCalls } from './used-files.ts'

const log = pino({ level: 'silent' })
const fronts = await openFronts({ kind: 'memory' }, { log })
const denied = { text: 'Looking.', calls: [{ id: 'call_1', args: '{}' }] }
const upstream = await scriptedUpstream(speaking(denied, { text: 'There is no file.' }))
const server = await startFrontServer({
  fronts,
  host: '127.0.0.1',
  port: 0,
  agent: 'main',
  upstream: upstream.url,
  veto: { coversSubscriptions: false },
  log,
})
const schema = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const body = {
  model: 'm',
  max_tokens: 100,
  stream: true,
  tools: [{ name: 'exec', input_schema: schema }],
  messages: [{ role: 'user', content: 'List the files.' }],
}

const calls = await countCalls()
const response = await fetch(`${server.url}/v1/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': 'key' },
  body: JSON.stringify(body),
})
const answer = await response.text()
await setTimeout(100) // the report of a text comes later
const files = await calls.end()
const isHidden = !answer.includes('call_1') && answer.includes('There is no file.')
console.log(JSON.stringify({ files, isAsExpected: isHidden && upstream.received.length === 2 }))
await server.close()
await fronts.close()
await upstream.close()
