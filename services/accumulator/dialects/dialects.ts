// All dialects, in the order in which they are tried. The first that recognizes its frame reads the
// text.

import { deepseek } from './deepseek.ts'
import type { Dialect } from './dialect.ts'
import { functionTag } from './function-tag.ts'
import { gemma } from './gemma.ts'
import { glm } from './glm.ts'
import { harmony } from './harmony.ts'
import { hermes } from './hermes.ts'
import { invokeTag } from './invoke-tag.ts'
import { json } from './json.ts'
import { kimi } from './kimi.ts'
import { kimiK3 } from './kimi-k3.ts'
import { markedJson } from './marked-json.ts'
import { minimaxM3 } from './minimax-m3.ts'
import { mistral } from './mistral.ts'
import { pythonic } from './pythonic.ts'

// hermes and markedJson follow the dialects that use their tags for other contents. pythonic
// precedes json, which would read its list as broken JSON, and invokeTag, which shares a tag.
export const dialects: Dialect[] = [
  pythonic,
  json,
  functionTag,
  minimaxM3,
  glm,
  hermes,
  mistral,
  kimi,
  kimiK3,
  deepseek,
  invokeTag,
  gemma,
  markedJson,
  harmony,
]
