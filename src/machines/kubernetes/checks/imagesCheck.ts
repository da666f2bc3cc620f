import type { ClusterCheck, Finding } from './check';

export const imagesCheck: ClusterCheck = {
  name: 'images',
  isForDoctor: true,
  look: ({ words }, { image, busImage }): Promise<readonly Finding[]> =>
    Promise.resolve([
      {
        status: 'note',
        text: `${image} (agents, coordinator) and ${busImage} (bus) will be pulled by the nodes.`,
        advice: `A closed network needs mirrors of both${words.images}.`,
      },
    ]),
};
