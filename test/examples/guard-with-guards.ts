import { openGuard } from '../../client/guard/guard.ts'
import type { Guard } from '../../client/weir.ts'

const noRemoval: Guard = {
  name: 'no-removal',
  version: '1',
  tools: ['exec'],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: args }) =>
      /\brm\b/.test(JSON.stringify(args))
        ? { ordinal, verdict: 'deny', code: 'removal', text: 'Nothing is removed here.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

const guard = await openGuard({
  agent: 'ops',
  guards: { guards: [noRemoval], mode: 'enforce' },
  approvals: { rules: [{ name: 'deploys', tools: ['deploy*'] }] },
})

const tools = [{ type: 'function', function: { name: 'exec', parameters: { type: 'object' } } }]
const messages = [{ role: 'user', content: 'Clean up.' }]
const call = { name: 'exec', arguments: '{"command":"rm -rf ."}' }
const tool_calls = [{ id: 'c1', type: 'function', function: call }]
const [verdict] = await guard.conversation('ticket-42').afterModel({
  request: { format: 'openai-chat', body: { model: 'qwen3', messages, tools } },
  answer: { choices: [{ message: { role: 'assistant', content: null, tool_calls } }] },
})
console.log(`${verdict?.verdict}: ${verdict?.text}`)
await guard.close()
