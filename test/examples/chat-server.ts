import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const agent = defineAgent({
  name: 'helper',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help travellers.',
  tools: [weather],
})
await using weir = await Weir.open({ agents: [agent] })

const page = `<!doctype html><meta charset="utf-8"><title>Chat</title>
<div id="chat"></div><form><input name="text" autofocus><button>Send</button></form>
<script>
const chat = document.querySelector('#chat')
const cards = new Map()
function add(className, text = '') {
  const line = chat.appendChild(document.createElement('p'))
  line.className = className
  line.textContent = text
  return line
}
function card(key, { name, status, result }) {
  const line = cards.get(key) ?? add('card')
  cards.set(key, line)
  line.textContent = name + ': ' + (status ?? 'runs') + ' ' + (result ?? '')
}
async function history() {
  for (const message of await (await fetch('/messages')).json()) {
    add(message.role, message.text)
    for (const call of message.calls ?? []) card({}, call)
  }
}
async function ask(text) {
  add('user', text)
  let reply = add('assistant')
  const answer = await fetch('/ask', { method: 'POST', body: text })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split('\\n')
    rest = lines.pop()
    for (const line of lines) {
      const event = JSON.parse(line)
      const key = event.turn + '/' + event.round + '/' + event.ordinal
      if (event.type === 'round-started' && event.round > 1) reply = add('assistant')
      if (event.type === 'text-delta') reply.textContent += event.text
      if (event.type === 'text-reset') reply.textContent = ''
      if (event.type === 'tool-started' || event.type === 'call-finished') card(key, event)
      if (event.type === 'turn-finished' && event.outcome !== 'answered') add('note', event.reply)
    }
  }
}
document.querySelector('form').onsubmit = (event) => {
  event.preventDefault()
  const { text } = event.target.elements
  ask(text.value)
  text.value = ''
}
history()
</script>`

const conversation = 'first' // one for each user, whom your server knows
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request
  if (url === '/messages') {
    response.end(JSON.stringify(await weir.conversation(conversation).messages()))
  } else if (url === '/ask' && method === 'POST') {
    const turn = weir.ask({ agent, conversation, text: await text(request) })
    for await (const event of turn.events) response.write(`${JSON.stringify(event)}\n`)
    response.end()
  } else response.setHeader('content-type', 'text/html').end(page)
}
const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(server.address()))
await new Promise((resolve) => process.once('SIGTERM', resolve))
server.close()
