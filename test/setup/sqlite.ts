import { makeTemplate } from '../templates.ts'

export default () => makeTemplate('sqlite')
