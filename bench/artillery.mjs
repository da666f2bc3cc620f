export const artillery = () => [];
