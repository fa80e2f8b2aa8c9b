import { fork } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { Agent, type AgentInputItem, OpenAIChatCompletionsModel, run } from '@openai/agents'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.MODEL_URL, apiKey: 'none' })
const agent = new Agent({
  name: 'counter',
  model: new OpenAIChatCompletionsModel(client, 'mock'),
  instructions: 'You count questions.',
})

if (process.send === undefined) {
  const workers = [fork(import.meta.filename), fork(import.meta.filename)]
  const replies = await Promise.all(workers.map((worker) => once(worker, 'message')))
  console.log(
    replies
      .map(([reply]) => reply)
      .sort()
      .join('\n'),
  )
} else {
  using database = new DatabaseSync('agents-sdk.db', { timeout: 60_000 })
  database.exec('CREATE TABLE IF NOT EXISTS chats (id TEXT PRIMARY KEY, items TEXT)')
  database.exec('BEGIN IMMEDIATE') // the other worker waits, so that no message is lost
  const stored = database.prepare('SELECT items FROM chats WHERE id = ?').get('ada')
  const items: AgentInputItem[] = JSON.parse(String(stored?.items ?? '[]'))
  items.push({ role: 'user', content: 'How often did I ask?' })
  const { finalOutput, history } = await run(agent, items)
  database.prepare('INSERT OR REPLACE INTO chats VALUES (?, ?)').run('ada', JSON.stringify(history))
  database.exec('COMMIT')
  process.send(finalOutput, () => process.disconnect())
}
