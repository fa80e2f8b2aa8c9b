// app/api/weir/[...path]/route.ts
import { Weir } from '../../client/weir.ts'
import { agent } from './serve-agent.ts'

const weir = await Weir.open({ agents: [agent] })
const handler = weir.http({ basePath: '/api/weir' })

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as POST }
