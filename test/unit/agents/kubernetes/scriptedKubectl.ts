import { flagWords } from '../../../../src/cli/commands/onKubernetes';
import type { ClusterAccess, Forwarding } from '../../../../src/agents/kubernetes/kubectl';
import type { KubeObject } from '../../../../src/agents/kubernetes/manifest';

export type Answer = (words: string, input: string) => string | undefined | Promise<string>;

export class ScriptedKubectl implements ClusterAccess {
  readonly words = flagWords;
  readonly asked: string[] = [];
  readonly inputs: string[] = [];
  readonly made: KubeObject[] = [];
  forwardings = 0;

  constructor(private readonly answer: Answer = () => undefined) {}

  async run(words: readonly string[], input = ''): Promise<string> {
    const text = words.join(' ');
    this.asked.push(text);
    this.inputs.push(input);
    return (await this.answer(text, input)) ?? '';
  }

  async create(object: KubeObject): Promise<string> {
    const uid = (await this.answer('create', JSON.stringify(object))) ?? 'uid';
    this.made.push(object);
    return uid;
  }

  async createAll(items: readonly KubeObject[]): Promise<void> {
    await this.answer('createAll', JSON.stringify(items));
    this.made.push(...items);
  }

  async list<T>(kind: string): Promise<readonly T[]> {
    const text = await this.run(['get', kind]);
    return text === '' ? [] : (JSON.parse(text) as readonly T[]);
  }

  async forward(): Promise<Forwarding> {
    await this.answer('forward', '');
    this.forwardings += 1;
    return { port: 4222, close: () => (this.forwardings -= 1) };
  }
}
