// The formats of the APIs of models, whole.

import { wholeFormat } from '../../shared/wire/formats.ts'
import { type ModelFormat, proxiedFormats } from '../../shared/wire/proxied.ts'

export const modelFormats: readonly ModelFormat[] = await Promise.all(
  proxiedFormats.map((format) => wholeFormat(format)),
)
