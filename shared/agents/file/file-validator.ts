import { ahead } from '../../lib/json/ahead.ts'
import { agentAjv, agentSchema } from './agent-schema.ts'

/** Of agent files. */
export const fileValidator = ahead((code) => agentAjv(agentSchema, code))
