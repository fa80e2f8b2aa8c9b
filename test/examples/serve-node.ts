import { createServer } from 'node:http'
import { Weir } from '../../client/weir.ts'
import { agent } from './serve-agent.ts'

const weir = await Weir.open({ agents: [agent] })
createServer(weir.http().node).listen(3000, '127.0.0.1')
