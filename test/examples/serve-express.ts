import express from 'express'
import { Weir } from '../../client/weir.ts'
import { agent } from './serve-agent.ts'

const weir = await Weir.open({ agents: [agent] })

const app = express()
app.use('/api/weir', weir.http().node) // before express.json(), which would read the body
app.listen(3000, '127.0.0.1')
