import { makeTemplate } from '../templates.ts'

export default () => makeTemplate('mysql-lts')
