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
import { markedJson } from './marked-json.ts'
import { mistral } from './mistral.ts'
import { pythonic } from './pythonic.ts'

// hermes follows the dialects that use its tag for other contents. pythonic precedes json, which
// would read its list as broken JSON.
export const dialects: Dialect[] = [
  pythonic,
  json,
  functionTag,
  glm,
  hermes,
  mistral,
  kimi,
  deepseek,
  invokeTag,
  gemma,
  markedJson,
  harmony,
]
