/* What every component shares. Freestanding: there is no C library for the targets. */
#ifndef MEDIA_H
#define MEDIA_H

#define EXPORT __declspec(dllexport)
#define IMPORT __declspec(dllimport)

#ifndef SDK_VERSION
#define SDK_VERSION "none"
#endif

#endif
