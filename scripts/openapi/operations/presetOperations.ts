// In charge of: the operations of presets.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { schemaRef } from '../schemaParts.ts'
import { body, json, type OperationTable } from './operation.ts'

export const presetOperations: OperationTable = {
  'GET /api/v0/presets': {
    id: 'listPresets',
    summary: 'List presets',
    description:
      'Lists built-in presets first, then the account’s own by name. `job` has members of a job’s body; they apply to a job with this preset unless its own body has them.',
    auth: 'jobs',
    answers: json('PresetList', example.presetList),
    curl: 'curl -u "$KEY:" "$BASE/api/v0/presets"',
  },
  'POST /api/v0/presets': {
    id: 'createPreset',
    summary: 'Save a preset',
    description:
      'Saves output settings under a name. `job` is validated like the body of a job, without source and credentials; all problems are listed at once. Names are unique within the account, without regard to upper and lower case.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewPreset'), example: example.newPreset },
    status: 201,
    answers: json('Preset', example.preset),
    errors: ['invalid_request', 'conflict', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: `curl -u "$KEY:" ${body(example.newPreset)}"$BASE/api/v0/presets"`,
  },
  'GET /api/v0/presets/{preset}': {
    id: 'getPreset',
    summary: 'Read a preset',
    description: 'Returns a built-in preset or one of the account by its `preset_id`.',
    auth: 'jobs',
    answers: json('Preset', example.preset),
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" "$BASE/api/v0/presets/$PRESET"',
  },
  'PUT /api/v0/presets/{preset}': {
    id: 'replacePreset',
    summary: 'Replace a preset',
    description:
      'Replaces name, description and settings of a preset of the account. Jobs that were created with it stay as they are. Built-in presets cannot be changed: 403.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewPreset'), example: example.newPreset },
    answers: json('Preset', example.preset),
    errors: ['invalid_request', 'not_found', 'conflict', 'too_large', 'unsupported_media_type'],
    curl: `curl -u "$KEY:" -X PUT ${body(example.newPreset)}"$BASE/api/v0/presets/$PRESET"`,
  },
  'DELETE /api/v0/presets/{preset}': {
    id: 'deletePreset',
    summary: 'Delete a preset',
    description: 'Deletes a preset of the account. Jobs that were created with it stay as they are.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" -X DELETE "$BASE/api/v0/presets/$PRESET"',
  },
}
