import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { Weir } from '../../client/weir.ts'
import { agent } from './serve-agent.ts'

const weir = await Weir.open({ agents: [agent] })
const handler = weir.http({ basePath: '/api/weir' })

const app = new Hono()
app.all('/api/weir/*', ({ req }) => handler(req.raw))
serve({ fetch: app.fetch, port: 3000, hostname: '127.0.0.1' })
