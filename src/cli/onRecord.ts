/** What only command lines about recordings need, in a bundle of its own. */
export { importCommand } from './commands/importCommand';
export { recordCommand } from './commands/recordCommand';
