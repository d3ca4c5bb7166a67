import { makeTemplate } from '../support/templates.ts'

export default () => makeTemplate('mysql-lts')
