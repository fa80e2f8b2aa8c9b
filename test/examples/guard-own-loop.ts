import { openGuard } from '../../client/guard/guard.ts'

type Call = { id: string; function: { name: string; arguments: string } }
type Message = {
  role: string
  content: string | null
  tool_calls?: Call[]
  tool_call_id?: string
}

const guard = await openGuard({ agent: 'ops' })
const ticket = guard.conversation('ticket-42')

const baseURL = process.env.MODEL_URL ?? 'http://localhost:11434/v1'
const parameters = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
}
const exec = { name: 'exec', description: 'Run a shell command.', parameters }
const tools = [{ type: 'function', function: exec }]
const messages: Message[] = [{ role: 'user', content: 'List the files.' }]
let answers = 0
let reply: string | null = null

while (reply === null) {
  const body = { model: 'qwen3', messages, tools }
  const request = { format: 'openai-chat' as const, body }
  const advice = await ticket.beforeModel(request)
  if (advice.action === 'end') {
    reply = `${advice.reason} ${advice.fallback}`
    break
  }
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(advice.applied),
  })
  if (!response.ok) throw new Error(`the model answered ${response.status}`)
  const answer = (await response.json()) as { choices: [{ message: Message }] }
  answers += 1
  const verdicts = await ticket.afterModel({ request, answer })
  const [{ message }] = answer.choices
  messages.push(message)
  const calls = message.tool_calls ?? []
  for (const [at, { id, function: called }] of calls.entries()) {
    const verdict = verdicts[at]
    const content =
      verdict?.verdict === 'allow' ? `ran ${called.arguments}` : (verdict?.text ?? 'Not run.')
    messages.push({ role: 'tool', tool_call_id: id, content })
  }
  if (calls.length === 0) reply = message.content ?? ''
}
console.log(`${answers} answers, the last one: ${reply}`)
await guard.close()
